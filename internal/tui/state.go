package tui

import (
	"slices"

	"github.com/lshark/lshark/internal/tui/store"
)

// State is what is remembered from one session to the next.
type State struct {
	RPCs     Layout   `json:"rpcs"`
	Messages Layout   `json:"messages"`
	Filters  []string `json:"filters,omitempty"` // that were applied, the last one at the end
}

// Layout is how rows of a kind are shown.
type Layout struct {
	Columns []string `json:"columns,omitempty"` // nil: the usual ones
}

// restore applies what is remembered.
func (s *Screen) restore(state *State) {
	s.grid.setColumns(store.RPCs, state.RPCs.Columns)
	s.grid.setColumns(store.Messages, state.Messages.Columns)
	for _, f := range state.Filters {
		s.filter.remember(f)
	}
}

// State returns what is to be remembered, after Run.
func (s *Screen) State() State {
	return State{RPCs: s.layout(store.RPCs), Messages: s.layout(store.Messages), Filters: s.filter.past}
}

func (s *Screen) layout(k store.Kind) (l Layout) {
	if names := s.grid.names(k); !slices.Equal(names, usualColumns(k)) {
		l.Columns = names
	}
	return l
}
