-- submit_generation (sqlite): a later tenant deletion covers more; its number rises.
UPDATE queue_generations SET generation = generation + 1
