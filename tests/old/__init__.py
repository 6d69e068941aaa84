"""What earlier versions wrote, kept to be opened by every later one."""
