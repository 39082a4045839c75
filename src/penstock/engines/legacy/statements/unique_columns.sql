-- unique_columns (legacy): columns that an index over them alone, and over all rows, keeps unique.
SELECT min(info.name) FROM pragma_index_list(:table) AS list, pragma_index_info(list.name) AS info
WHERE list."unique" = 1 AND list.partial = 0
GROUP BY list.name HAVING count(*) = 1 AND min(info.name) IS NOT NULL
