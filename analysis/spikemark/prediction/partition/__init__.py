"""Placing neurons on ranks: expected traffic of a placement, methods that find one, and routing in levels."""
