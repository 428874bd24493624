package prose

import "testing"

func TestCodeLineRecognizesCode(t *testing.T) {
	for _, l := range []string{"x := open(count)", "569 except StopIteration:", "if not hasattr(meta, 'latest'):", "14 type Kind int", `"price": 12, "currency": "EUR",`, "return errors.New(text)", "35: | { kind: 'list'; path?: string } }", "378→-// Find returns the entry of a name in the table.", `one more of \"the rows\" of the long table\n2. The second`} {
		if !CodeLine(l) {
			t.Errorf("%q counts as prose", l)
		}
	}
	for _, l := range []string{"The index is written once for each batch of rows.", "- [Billing] never run it on the live data; use the copy instead"} {
		if CodeLine(l) {
			t.Errorf("%q counts as code", l)
		}
	}
}
