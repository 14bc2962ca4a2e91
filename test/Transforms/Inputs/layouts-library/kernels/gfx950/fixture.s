// Named by the fixture tactics of the pass tests, which are never assembled.
