int kernlink_check(void);
int main(void) { return kernlink_check(); }
