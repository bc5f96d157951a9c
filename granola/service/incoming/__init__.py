"""What is sent: who may ask and how much, its types, and what is said of what is wrong."""
