/** SQL: the highest position that any row of the journal ever had, also when that row was deleted. */
export const lastPosition = `(SELECT max(value, coalesce((SELECT max(position) FROM journal), 0))
  FROM meta WHERE name = 'indexed_to')`;
