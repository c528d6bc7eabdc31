"""Searching the schedules of a kernel: points are sampled (optuna), guessed at (scikit-learn), measured and kept."""
