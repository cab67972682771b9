"""Plans motions."""
