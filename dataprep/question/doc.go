// Package question reads exam items: stem, options and answer key out of the
// lines, table rows and JSON rows of a document.
package question
