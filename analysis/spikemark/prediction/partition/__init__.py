"""Placing neurons on ranks: expected traffic of a placement, methods that find one, and routing in
levels.
"""

#: Modules that other packages may import.
__all__ = ["graph", "methods", "routed", "routing", "traffic"]
