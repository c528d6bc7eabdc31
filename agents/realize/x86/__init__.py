"""x86-64 assembly from a stranger: read, held to rules, assembled, and looked at once more as an object."""
