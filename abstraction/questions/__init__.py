"""What a question asks for, and whether its gold answers hold together with that."""
