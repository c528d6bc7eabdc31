"""Equality saturation of StableHLO functions: terms (``language.egg``), rules (``rules.egg``), ways in and out."""
