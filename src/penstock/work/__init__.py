"""The trades that move jobs: worker, keeper, rescuer, promoter, pruner. They know nothing of documents."""
