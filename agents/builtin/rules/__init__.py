"""Rules that the agent ``patterns`` applies when it is given none: files named after the level they are for."""
