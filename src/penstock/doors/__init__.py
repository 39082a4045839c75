"""Where people and programs come in; doors translate and decide nothing."""
