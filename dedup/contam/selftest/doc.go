// Package selftest measures what a contamination check would find: it hides
// copies of the benchmark's own items in the user's own data, in every disguise
// it knows, and counts how many come out with the right item named, and how
// many look-alikes that are no copies come out as well.
//
// Every copy is made from the benchmark, the user's text, the item, the kind and
// the seed, whatever else is tried beside it, so a run can be repeated, and a
// missed copy can be made again and looked at. What is asked of each kind is on
// the kind itself; the bars are those drydock holds itself to.
package selftest
