"""Adapters: one module for each platform or surface, found by name.

An adapter verifies and normalises what arrives, hands it to the core, and renders what the core wants
shown. SDK types stay inside; adapters never import each other and never decide anything.
"""
