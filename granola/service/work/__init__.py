"""What requests ask for, done by threads that hold the snapshot or nothing."""
