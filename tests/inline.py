"""An engine for tests of what runs as tasks."""

import pickle


class Inline:
    """An engine of this process; all that goes in and out is pickled, as on its way elsewhere."""

    n_workers = 3

    def __init__(self):
        self.tasks = []

    def run(self, task, items):
        self.tasks += [task.__name__] * len(items)
        return [pickle.loads(pickle.dumps(task(pickle.loads(pickle.dumps(i))))) for i in items]

    def close(self):
        pass
