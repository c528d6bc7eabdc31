"""Talking to a language model: endpoints, prompts, answers, what it costs, and a transcript without secrets."""
