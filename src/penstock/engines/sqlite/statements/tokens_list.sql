-- tokens_list (sqlite): how often each word is in each column of each text.
SELECT doc, col, term, count(*) FROM token_instances GROUP BY doc, col, term
