package policy

import "slices"

// pageLen is how many elements of a list lie together: what a change of one of
// them copies.
const pageLen = 64

type page[T any] [pageLen]T

// A list is a sequence whose clones share what none of them has changed. A
// clone costs a word for each page, a change one page at most. A copy of the
// struct is the same list, as it is with slices. It is not safe for concurrent
// use; reading several lists that share pages is.
type list[T any] struct {
	pages []*page[T]
	own   []bool // pages that nobody else reads
	n     int
}

// len returns the number of elements.
func (l *list[T]) len() int { return l.n }

// at returns element i, for reading.
func (l *list[T]) at(i int) *T { return &l.pages[i/pageLen][i%pageLen] }

// edit returns element i, for writing.
func (l *list[T]) edit(i int) *T {
	p := i / pageLen
	if !l.own[p] {
		mine := *l.pages[p]
		l.pages[p], l.own[p] = &mine, true
	}
	return &l.pages[p][i%pageLen]
}

// add appends an element.
func (l *list[T]) add(x T) {
	if l.n == len(l.pages)*pageLen {
		l.pages, l.own = append(l.pages, new(page[T])), append(l.own, true)
	}
	l.n++
	*l.edit(l.n - 1) = x
}

// clone returns a list of its own, which shares the pages. l must not be edited
// after that, but may be appended to.
func (l *list[T]) clone() list[T] {
	return list[T]{pages: slices.Clone(l.pages), own: make([]bool, len(l.pages)), n: l.n}
}

// cut forgets what stands from element n on.
func (l *list[T]) cut(n int) {
	full := (n + pageLen - 1) / pageLen
	l.pages, l.own, l.n = l.pages[:full:full], l.own[:full:full], n
}

// shares reports whether element i, and all others of its page, are the same
// in both lists because they lie at the same place.
func (l *list[T]) shares(with *list[T], i int) bool {
	p := i / pageLen
	return p < len(l.pages) && p < len(with.pages) && l.pages[p] == with.pages[p]
}
