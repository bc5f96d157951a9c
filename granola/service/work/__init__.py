"""What requests ask for, done by threads that hold the snapshot, a model, or nothing."""
