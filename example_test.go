package drydock_test

import (
	"fmt"

	"github.com/drydock-ml/drydock"
)

// A locator is written as people read it, and is read back.
func ExampleParseLocator() {
	at, err := drydock.ParseLocator("sheet:题库 r15")
	fmt.Println(at.Sheet, at.Row, err)
	fmt.Println(drydock.Locator{Page: 12, Line: 7})
	// Output:
	// 题库 15 <nil>
	// p12 l7
}

// Chinese and HTML signs stay readable; what is no UTF-8 is marked, not kept.
func ExampleAppendJSONString() {
	fmt.Println(string(drydock.AppendJSONString(nil, "船长 > 120 m\t\xff")))
	// Output: "船长 > 120 m\t�"
}

// A step took in three records, kept one, dropped one and merged the third into
// the first. Account proves that nothing disappeared.
func ExampleAccount() {
	a, b, c := drydock.ID{1}, drydock.ID{2}, drydock.ID{3}
	sums, err := drydock.Account([]drydock.ID{a, b, c},
		[]*drydock.Record{{ID: a, Parents: []drydock.ID{c}}},
		[]drydock.Drop{{Record: &drydock.Record{ID: b}, Reason: "too_short"}})
	fmt.Println(sums.In, sums.Out, sums.Dropped, sums.Merged, err)

	_, err = drydock.Account([]drydock.ID{a}, nil, nil)
	fmt.Println(err)
	// Output:
	// 3 1 map[too_short:1] 1 <nil>
	// record 01000000000000000000000000000000 disappeared
}
