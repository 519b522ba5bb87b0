"""How values of each kind of field are compared: one kind a file."""
