package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// The report of a program about text edits is no word of the user.
func TestReportAboutTextEditsIsNoRule(t *testing.T) {
	edit := "shop/cart.py\n<<<<<<< SEARCH\nrate = 1\n=======\nrate = 2\n>>>>>>> REPLACE\n"
	tells(t, long("Set the rate to 2.",
		message.Assistant("I set it.\n\n"+edit+"\n"+strings.ReplaceAll(strings.ReplaceAll(edit, "rate", "tax"), "cart", "tax")),
		message.User("# 1 SEARCH/REPLACE block failed to match!\n\n## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in shop/cart.py\n<<<<<<< SEARCH\nrate = 1\n=======\nrate = 2\n>>>>>>> REPLACE\n\n# The other 1 SEARCH/REPLACE block was applied successfully.\nDon't re-send them.\nJust reply with fixed versions of the block above that failed to match."),
		message.Assistant(edit),
		message.User("I committed the changes with git hash 1a2b3c4 & commit msg: cart: rate"),
		message.Assistant("Ok.")),
		[]string{"`shop/cart.py`: edited", "`shop/tax.py`: edited", "[done] ran `git commit`, which printed: Commit 1a2b3c4 cart: rate (do not repeat) [s6]", "the edit of `shop/cart.py` was refused: Error: the old lines were not found"}, []string{"re-send", "edited twice", "not stated", "[s7] I committed", "newest request"})
}
