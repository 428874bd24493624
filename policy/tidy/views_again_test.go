package tidy

import (
	"slices"
	"strings"
	"testing"
)

func TestReduceRepeatedResult(t *testing.T) {
	text := numbered("line %d of the file, which goes on for a while so that it is long", 1, 120)
	changed := func(at int, to ...string) string { return together(text[:at], to, text[at+1:]) }
	was := lines(text...)
	read := reading("/src/a.txt")
	earlier := func(call Call, text string) []Earlier {
		return []Earlier{{Text: text, Call: call, Ref: "0123456789ab"}}
	}
	compare(t, "again", []view{
		{name: "the same call", call: read, text: was, earlier: earlier(Call{"Read", []byte(`{ "file_path":"/src/a.txt" }`)}, was), want: lines("[tidied — it came before]") + "[the same 120 lines as the earlier result of this call (recall 0123456789ab)]"},
		{name: "another call", call: read, text: was, earlier: earlier(command("cat a.txt"), was), want: lines("[tidied — it came before]") + "[the same 120 lines as an earlier result (recall 0123456789ab)]"},
		{name: "without a reference", call: read, text: was, earlier: []Earlier{{Text: was, Call: read}}, want: lines("[tidied — it came before]") + "[the same 120 lines as the earlier result of this call]"},
		{name: "less than a thousand bytes", call: read, text: was[:999], earlier: earlier(read, was[:999]), want: "whole"},
		{name: "a thousand bytes", call: read, text: was[:1000], earlier: earlier(read, was[:1000]), want: lines("[tidied — it came before]") + "[the same 16 lines as the earlier result of this call (recall 0123456789ab)]"},
		{name: "a range", call: Call{"Read", []byte(`{"file_path":"/src/a.txt","offset":1}`)}, text: was, earlier: earlier(read, was), want: "whole"},
		{name: "the last one of several", call: read, text: was, earlier: []Earlier{{Text: was, Call: read, Ref: "000000000001"}, {Text: was, Call: read, Ref: "000000000002"}, {Text: "x", Call: read, Ref: "000000000003"}}, want: lines("[tidied — it came before]") + "[the same 120 lines as the earlier result of this call (recall 000000000002)]"},
		{name: "a line changed", call: read, text: changed(9, "another line ten"), earlier: earlier(read, was), want: lines("[tidied — only what changed since it was read]", "[only what is not as in the earlier result of this call (recall 0123456789ab)]", "@@ -7,7 +7,7 @@", " line 7 of the file, which goes on for a while so that it is long", " line 8 of the file, which goes on for a while so that it is long", " line 9 of the file, which goes on for a while so that it is long", "⋮ 1 line removed here", "+another line ten", " line 11 of the file, which goes on for a while so that it is long", " line 12 of the file, which goes on for a while so that it is long") + " line 13 of the file, which goes on for a while so that it is long"},
		{name: "two changes near each other", call: read, text: together(text[:9], []string{"another line ten"}, text[10:16], []string{"two lines", "in its place"}, text[18:]), earlier: earlier(read, was), want: lines("[tidied — only what changed since it was read]", "[only what is not as in the earlier result of this call (recall 0123456789ab)]", "@@ -7,15 +7,15 @@", " line 7 of the file, which goes on for a while so that it is long", " line 8 of the file, which goes on for a while so that it is long", " line 9 of the file, which goes on for a while so that it is long", "⋮ 1 line removed here", "+another line ten", " line 11 of the file, which goes on for a while so that it is long", " line 12 of the file, which goes on for a while so that it is long", " line 13 of the file, which goes on for a while so that it is long", " line 14 of the file, which goes on for a while so that it is long", " line 15 of the file, which goes on for a while so that it is long", " line 16 of the file, which goes on for a while so that it is long", "⋮ 2 lines removed here", "+two lines", "+in its place", " line 19 of the file, which goes on for a while so that it is long", " line 20 of the file, which goes on for a while so that it is long") + " line 21 of the file, which goes on for a while so that it is long"},
		{name: "two changes far from each other", call: read, text: together(text[:1], text[2:20], []string{"a line more"}, text[20:]), earlier: earlier(read, was), want: lines("[tidied — only what changed since it was read]", "[only what is not as in the earlier result of this call (recall 0123456789ab)]", "@@ -1,5 +1,4 @@", " line 1 of the file, which goes on for a while so that it is long", "⋮ 1 line removed here", " line 3 of the file, which goes on for a while so that it is long", " line 4 of the file, which goes on for a while so that it is long", " line 5 of the file, which goes on for a while so that it is long", "@@ -18,6 +17,7 @@", " line 18 of the file, which goes on for a while so that it is long", " line 19 of the file, which goes on for a while so that it is long", " line 20 of the file, which goes on for a while so that it is long", "+a line more", " line 21 of the file, which goes on for a while so that it is long", " line 22 of the file, which goes on for a while so that it is long") + " line 23 of the file, which goes on for a while so that it is long"},
		{name: "the last line went", call: read, text: together(text[:119]), earlier: earlier(read, was), want: lines("[tidied — only what changed since it was read]", "[only what is not as in the earlier result of this call (recall 0123456789ab)]", "@@ -117,4 +117,3 @@", " line 117 of the file, which goes on for a while so that it is long", " line 118 of the file, which goes on for a while so that it is long", " line 119 of the file, which goes on for a while so that it is long") + "⋮ 1 line removed here"},
		{name: "a line at the end", call: read, text: together(text, []string{"and one more"}), earlier: earlier(read, was), want: lines("[tidied — only what changed since it was read]", "[only what is not as in the earlier result of this call (recall 0123456789ab)]", "@@ -118,3 +118,4 @@", " line 118 of the file, which goes on for a while so that it is long", " line 119 of the file, which goes on for a while so that it is long", " line 120 of the file, which goes on for a while so that it is long") + "+and one more"},
		{name: "a line feed at the end", call: read, text: was, earlier: earlier(read, strings.TrimSuffix(was, "\n")), want: lines("[tidied — only what changed since it was read]", "[only what is not as in the earlier result of this call (recall 0123456789ab)]", "@@ -118,3 +118,4 @@", " line 118 of the file, which goes on for a while so that it is long", " line 119 of the file, which goes on for a while so that it is long", " line 120 of the file, which goes on for a while so that it is long") + "+"},
		{name: "no line feed at the end", call: read, text: strings.TrimSuffix(was, "\n"), earlier: earlier(read, was), want: lines("[tidied — only what changed since it was read]", "[only what is not as in the earlier result of this call (recall 0123456789ab)]", "@@ -118,4 +118,3 @@", " line 118 of the file, which goes on for a while so that it is long", " line 119 of the file, which goes on for a while so that it is long", " line 120 of the file, which goes on for a while so that it is long") + "⋮ 1 line removed here"},
		{name: "a file of another call", call: reading("/src/b.txt"), text: changed(9, "x"), earlier: earlier(read, was), want: "whole"},
		{name: "too much changed", call: read, text: together(text[:9], numbered("a new line %d that is long, and goes on", 1, 60), text[9:]), earlier: earlier(read, was), want: "whole"},
	})
}

func TestDifferReturnsTheHunksOfFiles(t *testing.T) {
	abc := strings.Split("a b c d e f g h i j k l m n", " ")
	for _, tc := range []struct {
		name    string
		was, is []string
		want    []hunk
		tooMany bool
	}{
		{"nothing", abc, abc, nil, true},
		{"a line more", abc, slices.Insert(slices.Clone(abc), 3, "x"), []hunk{{3, 3, 3, 4}}, false},
		{"a line less", abc, slices.Delete(slices.Clone(abc), 3, 4), []hunk{{3, 4, 3, 3}}, false},
		{"two lines replaced by one", abc, slices.Replace(slices.Clone(abc), 3, 5, "x"), []hunk{{3, 5, 3, 4}}, false},
		{"two equal lines do not end a change", abc, slices.Replace(slices.Clone(abc), 3, 7, "x", "e", "f", "y"), []hunk{{3, 7, 3, 7}}, false},
		{"three equal lines end a change", abc, slices.Replace(slices.Clone(abc), 3, 8, "x", "e", "f", "g", "y"), []hunk{{3, 4, 3, 4}, {7, 8, 7, 8}}, false},
		{"the end", abc, slices.Replace(slices.Clone(abc), 12, 14, "x"), []hunk{{12, 14, 12, 13}}, false},
		{"two hundred lines", abc, slices.Insert(slices.Clone(abc), 3, numbered("%d", 1, 200)...), []hunk{{3, 3, 3, 203}}, false},
		{"two hundred and one", abc, slices.Insert(slices.Clone(abc), 3, numbered("%d", 1, 201)...), nil, true},
	} {
		hunks, ok := differ(newDraft(strings.Join(tc.was, "\n")).lines, newDraft(strings.Join(tc.is, "\n")).lines)
		if ok == tc.tooMany || ok && !slices.Equal(hunks, tc.want) {
			t.Errorf("%s: %v, %v, want %v", tc.name, hunks, ok, tc.want)
		}
	}
	var was, is []string
	for i := range 21 {
		same := numbered("same %d", 10*i, 4)
		was, is = append(append(was, same...), "old"), append(append(is, same...), "new")
		if hunks, ok := differ(newDraft(strings.Join(was, "\n")).lines, newDraft(strings.Join(is, "\n")).lines); ok != (i < 20) || ok && len(hunks) != i+1 {
			t.Errorf("%d changes: %d hunks, %v", i+1, len(hunks), ok)
		}
	}
	old, now := newDraft(strings.Join(numbered("%d\ta line of the file", 1, 9), "\n")), newDraft("1\tfirst\n"+strings.Join(strings.Split(strings.Join(numbered("%d\ta line of the file", 2, 9), "\n"), "\n"), "\n"))
	if hunks, ok := differ(old.lines, now.lines); !ok || !slices.Equal(hunks, []hunk{{0, 0, 0, 1}}) {
		t.Errorf("line numbers count as a difference: %v, %v", hunks, ok)
	}
}

func TestReduceJSON(t *testing.T) {
	get := command("curl -s localhost/items")
	item := func(form string, n int) string { return "[" + strings.Join(numbered(form, 1, n), ",") + "]" }
	compare(t, "json", []view{
		{name: "an array", call: get, large: 60, text: item(`{"id":%d,"name":"item"}`, 40), want: lines("[tidied — shape, ends and outliers of JSON]") + "[{\"id\":1,\"name\":\"item\"},{\"id\":2,\"name\":\"item\"},… 37 more …,{\"id\":40,\"name\":\"item\"}]"},
		{name: "outliers, and an element that is named", call: get, said: "`item_20`", large: 60, text: "[\n" + strings.Join(slices.Concat(numbered(`{"id":%d,"name":"item"}`, 1, 15), []string{`{"id":16,"title":"another"}`, `{"id":17,"name":"item_20"}`, `{"id":18,"name":"error: gone"}`, `7`, `"text"`}, numbered(`{"id":%d,"name":"item"}`, 19, 25)), ",\n") + "\n]\n", want: lines("[tidied — shape, ends and outliers of JSON]", "[", "{\"id\":1,\"name\":\"item\"},", "{\"id\":2,\"name\":\"item\"},", "… 13 more …,", "{\"id\":16,\"title\":\"another\"},", "{\"id\":17,\"name\":\"item_20\"},", "{\"id\":18,\"name\":\"error: gone\"},", "7,", "… 25 more …,", "{\"id\":43,\"name\":\"item\"}", "]")},
		{name: "eight elements at either end where there is room", call: get, large: 340, text: item(`{"id":%d,"name":"a name of an item that is long","tags":[1,2]}`, 24), want: lines("[tidied — shape, ends and outliers of JSON]") + "[{\"id\":1,\"name\":\"a name of an item that is long\",\"tags\":[1,2]},{\"id\":2,\"name\":\"a name of an item that is long\",\"tags\":[1,2]},{\"id\":3,\"name\":\"a name of an item that is long\",\"tags\":[1,2]},{\"id\":4,\"name\":\"a name of an item that is long\",\"tags\":[1,2]},… 18 more …,{\"id\":23,\"name\":\"a name of an item that is long\",\"tags\":[1,2]},{\"id\":24,\"name\":\"a name of an item that is long\",\"tags\":[1,2]}]"},
		{name: "a long text", call: get, large: 120, text: `{"a":"` + strings.Repeat("x", 600) + `","b":[{"c":1}],"d":"` + strings.Repeat("ä", 200) + `","e":"error: ` + strings.Repeat("y", 330) + `"}`, want: lines("[tidied — shape, ends and outliers of JSON]") + "{\"a\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx … 400 chars … xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\",\"b\":[{\"c\":1}],\"d\":\"ääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääää … 100 chars … ääääääääääääääääääää\",\"e\":\"error: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\"}"},
		{name: "an object of many keys", call: get, large: 60, text: "{" + strings.Join(numbered(`"key%d":true`, 1, 60), ",") + "}", want: lines("[tidied — shape, ends and outliers of JSON]") + "{\"key1\":true,\"key2\":true,\"key3\":true,\"key4\":true,\"key5\":true,\"key6\":true,\"key7\":true,\"key8\":true,\"key9\":true,\"key10\":true,\"key11\":true,\"key12\":true,\"key13\":true,\"key14\":true,\"key15\":true,\"key16\":true,\"key17\":true,\"key18\":true,\"key19\":true,\"key20\":true,… 30 more …,\"key51\":true,\"key52\":true,\"key53\":true,\"key54\":true,\"key55\":true,\"key56\":true,\"key57\":true,\"key58\":true,\"key59\":true,\"key60\":true}"},
		{name: "arrays in arrays", call: get, large: 30, text: `{"rows":[` + strings.Join(slices.Repeat([]string{"[1,2,3,4,5,6,7,8]"}, 12), ",") + `],"n":12,"more":"` + strings.Repeat("z", 60) + `"}`, want: lines("[tidied — shape, ends and outliers of JSON]") + "{\"rows\":[[1,2,… 5 more …,8],[1,2,… 5 more …,8],… 9 more …,[1,2,… 5 more …,8]],\"n\":12,\"more\":\"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\"}"},
		{name: "a text among numbers", call: get, large: 30, text: "[" + strings.Join(slices.Concat(numbered("10%d", 10, 30), []string{`"ten"`, "true"}, numbered("10%d", 40, 30)), ",") + "]", want: lines("[tidied — shape, ends and outliers of JSON]") + `[1010,1011,… 28 more …,"ten",true,… 29 more …,1069]`},
		{name: "text after the array", call: get, large: 60, text: item(`{"id":%d,"name":"item"}`, 40) + " ok", want: "whole"},
		{name: "brackets that are not closed", call: get, large: 60, text: strings.TrimSuffix(item(`{"id":%d,"name":"item"}`, 40), "]"), want: "whole"},
		{name: "a frame around it", call: get, large: 60, text: "Chunk ID: 1\nOutput:\n" + item(`{"id":%d,"name":"item"}`, 40) + "\nProcess exited with code 0", want: lines("[tidied — shape, ends and outliers of JSON]", "Chunk ID: 1", "Output:", "[{\"id\":1,\"name\":\"item\"},{\"id\":2,\"name\":\"item\"},… 37 more …,{\"id\":40,\"name\":\"item\"}]") + "Process exited with code 0"},
		{name: "a file with numbers of lines", call: reading("/a.json"), large: 60, text: "1\t[\n2\t" + strings.Join(numbered(`{"id":%d}`, 1, 60), ",\n3\t") + "\n4\t]\n", want: "whole"},
	})
}

func TestSkipJSONReturnsTheEndOfAValue(t *testing.T) {
	for text, want := range map[string]int{
		`1`: 1, `-1.5e+3,`: 7, `true]`: 4, `"a"b`: 3, `"a\"b" `: 6, `"a`: -1, `"a\`: -1, `{}`: 2, `[]x`: 2, `{"a":[1,{"b":2}]}`: 17, `[}`: -1, `{"a":1`: -1, `}`: -1, `,`: -1, ``: -1, `#`: -1, `[#]`: -1, ` 1`: -1,
		strings.Repeat("[", 60) + strings.Repeat("]", 60): 120,
	} {
		if got := skipJSON(text, 0); got != want {
			t.Errorf("skipJSON(%q) = %d, want %d", text, got, want)
		}
	}
}
