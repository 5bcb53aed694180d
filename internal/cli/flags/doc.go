// Package flags holds the flags that several commands have: what to select
// (Selection), how to show it (View, Columns), and both for commands that show
// records of one kind (Records). It also groups flags for help texts (Add) and
// completes arguments.
package flags
