"""Variants: the forms that an operator's schema allows, chosen pairwise from tables under a budget.

A name stands for one content for ever; the inputs follow from the name, the rest from its label.
"""
