package pipeline

import "context"

func (r *runner) runTrain(context.Context) error { return nil }

func (r *runner) runPack(context.Context) error { return nil }

func blindOf(any) []int { return nil }
