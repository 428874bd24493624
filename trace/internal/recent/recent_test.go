package recent

import "testing"

func TestMapKeepsTheLastUsedEntries(t *testing.T) {
	const size = 10
	m := New[int, int](size)
	for i := range 1000 {
		m.Put(i, -i)
		m.Put(i, i) // the same entry, once more
		if v, ok := m.Find(0); !ok || v != 0 {
			t.Fatalf("an entry that is used again and again is gone after %d others", i)
		}
		for old := max(0, i-size+2); old <= i; old++ { // entry 0 is one of the ten
			if v, ok := m.older[old]; ok && v == old {
				continue
			}
			if v, ok := m.recent[old]; !ok || v != old {
				t.Fatalf("entry %d is gone after %d others", old, i-old)
			}
		}
		if n := len(m.recent) + len(m.older); n > 2*size {
			t.Fatalf("%d entries are remembered", n)
		}
	}
	if _, ok := m.Find(500); ok {
		t.Error("an entry that nobody used still exists")
	}
}
