"""Reads package data and operators' files and hands them to the pure parts as values (D12)."""
