"""How a snapshot is built: blocks to workers, rows back, progress kept so that a killed build goes on."""
