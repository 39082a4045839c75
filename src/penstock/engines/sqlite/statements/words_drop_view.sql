-- words_drop_view (sqlite): forget what it was made of.
DROP VIEW IF EXISTS words_0_of
