package parallel

import "context"

// InOrder calls work for 0 … n-1 on up to workers goroutines and done for each
// in order, on the caller's goroutine, holding the results of a few at a time
// only. The first error of either ends it.
func InOrder(ctx context.Context, workers, n int, work func(ctx context.Context, i int) error, done func(i int) error) error {
	group := 2 * Workers(workers)
	for from := 0; from < n; from += group {
		size := min(group, n-from)
		if err := Each(ctx, workers, size, func(ctx context.Context, i int) error { return work(ctx, from+i) }); err != nil {
			return err
		}
		for i := range size {
			if err := done(from + i); err != nil {
				return err
			}
		}
	}
	return nil
}
