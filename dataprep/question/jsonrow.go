package question

import "github.com/drydock-ml/drydock"

type jsonRows struct{}

func (r *reader) jsonRow(b drydock.Block) error { return nil }

func looksLikeItem(raw []byte) bool { return false }
