"""The subcommands of ``kc``: each module has ``add_arguments(parser)`` and ``run(args) -> int | None``."""
