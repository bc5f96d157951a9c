"""An answer in, an ordered ladder of coarser correct answers out, each with its evidence."""
