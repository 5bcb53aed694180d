// Package facts has what is known of a capture that rules judge by: which RPCs waited long and
// what happened to them meanwhile, what each target served at that time, and what passed between
// hosts. Each fact is found by one piece of code, and has its evidence.
//
//	f := facts.New()
//	e := follow.New(follow.Options{}, f.Hooks())
//	… // messages, then e.Close()
//	for _, w := range f.Waits() {
//		fmt.Println(w.Client, w.Server, w.Length(), f.Served(w.Target, w.Operation, w.Span))
//	}
//
// wait.go has the RPCs that waited, served.go what targets did for whom, contact.go what
// passed between two hosts, and unacknowledged.go what one of them did not get. Times are
// nanoseconds since the epoch. All lists have a bound, a constant beside the type.
package facts
