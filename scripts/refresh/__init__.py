"""How `scripts/refresh_manifests` makes the manifests from NVIDIA's redistrib JSON and from the package index."""
