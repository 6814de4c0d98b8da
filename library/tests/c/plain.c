/* A shared library that has nothing to do with ops. */

int plain_answer(void) { return 42; }
