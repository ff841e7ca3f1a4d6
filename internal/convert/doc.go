// Package convert turns files of rows of one training format into a file of
// another, without loss: a row that does not fit is refused with its reason, ids
// of several inputs are kept apart, and every column has one type.
package convert
