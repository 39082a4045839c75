"""How fast the bundled model embeds and the splitter splits, by themselves."""
