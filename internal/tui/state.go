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

func (s *State) layouts() [2]*Layout {
	return [2]*Layout{store.RPCs: &s.RPCs, store.Messages: &s.Messages}
}

// restore applies what is remembered. Columns that are unknown are left out.
func (s *Screen) restore(state *State) {
	for kind, l := range state.layouts() {
		k := store.Kind(kind)
		usual := s.grid.columns[k]
		if s.grid.setColumns(k, l.Columns); len(s.grid.columns[k]) == 0 {
			s.grid.columns[k] = usual
		}
	}
	for _, f := range state.Filters {
		s.filter.remember(f)
	}
}

// State returns what is to be remembered, after Run.
func (s *Screen) State() State {
	state := State{Filters: s.filter.past}
	for kind, l := range state.layouts() {
		names := s.grid.names(store.Kind(kind))
		if !slices.Equal(names, usualColumns(store.Kind(kind))) {
			l.Columns = names
		}
	}
	return state
}
