package rules

import "testing"

// A sentence sets a rule by its shape, in four languages. Questions, reports, descriptions,
// ideas and requests for one step set no rule.
func TestShapeOfSentenceSetsRule(t *testing.T) {
	for _, s := range []string{
		"Nobody touches internal/legacy.", "No one pushes to the release branch.", "Nothing goes to production before Monday.", "Not to be touched: e2e/ and fixtures/.", "The tables of the ledger are not to be renamed.",
		"Photos under /tank are sacred.", "The public folder is off limits.", "Hands off the prod database.", "Stay away from the billing module.", "Leave clause 5.4 at 60.", "no! leave 9f1e alone", "Leave the changelog as it is.",
		"Python 3.11 only.", "Ok, staging only.", "Run it against the copy only.", "One commit per file.", "Two reviewers for each change.", "Without new dependencies please.", "I'll do the pull request myself.", "I'll do the pull request creation.",
		"Everything in English.", "Comments in French, please.", "Every request needs a timeout.", "All new endpoints go under /v2.", "Stay below 200 ms.", "Stop at the first failure.", "Round to full euros.", "Use British spelling.", "Stick to the style of the module.",
		"Verify checksums before deleting the source.", "Let me see the text before you publish it.", "Wait for my OK before you merge.", "Clean up the volumes, ask me for each one before you delete it.", "Until then no load at all, not even a test one.", "Ask the platform team for the path; until then no load at all.",
		"You may restart staging, but not prod.", "you don't have to ask for empty ones any more", "From now on, sign every commit.", "You may rename the private helpers.", "no, that one stays", "Ship to my office, not home.", "Only compare, nothing in the cart.", "The two tests, nothing else.",
		"All other clauses: make them customer-friendly.", "Ignore the style warnings.", "I'll merge it myself once it is green.", "Everything in metric units.",

		"Anything that restarts more than one pod at once needs my OK first.", "Every deletion needs my approval first.", "All emails go through Petra.", "Prod changes go through the repository, except when I say so.", "Train only, no flights.", "Under 400 euros in total for the trains.", "Not more than two retries.", "Below 3 MB, please.",
		"No changes shorter than 20 min please.", "No changes to the main branch.", "locale files: hands off, a friend does those", "Zero downtime: no statement may hold a lock for more than 2 s.", "Abort if replication lag goes over 30 s.", "Roll back if the error rate exceeds 2 %.", "If the disk is above 90 %, stop the import.", "If in doubt, ask.",
		"And tell #db-oncall before and after.", "Lag there doesn't matter, watch only .15.", "Rollback only if I say so.", "Leave the columns; the app ignores NULLs.", "leave those, I'll call the bank", "Amounts over 1,000 I want to see before they are booked.", "Use account 4400 for donations and 6300 for rent.", "Draft replies, but send nothing without me.",
		"Under no circumstances restart the broker.", "At no point may the token appear in logs.", "Mind the license headers.", "Answers in at most three sentences.", "Write the page, max one page, with a clear yes at the top.",

		"Nunca apague os logs.", "Não instale bibliotecas novas.", "E não faça commit ainda, eu mesmo reviso.", "Pode subir o Postgres, mas só o serviço db.", "Sem dependências novas.", "Me avise antes de apagar qualquer coisa.", "Mantenha a versão 3.11.", "Só os testes, por favor.",

		"Ändere nichts an der öffentlichen API.", "Rühr die Datenbank nicht an.", "Ohne neue Abhängigkeiten bitte.", "Bitte die Tests nicht anfassen.", "Im Ordner legacy nichts löschen.", "Lass die Migrationen in Ruhe.", "Ich möchte keine neuen Abhängigkeiten.", "Den Merge mache ich selbst.", "Alles auf Englisch.", "Ein Commit pro Datei.",
		"Du darfst Staging neu starten, aber nicht die Produktion.", "Niemand fasst das Archiv an.", "Schreib erst, wenn die Tests grün sind.", "Commits immer signieren.", "Die Verträge sind tabu.", "Nicht ohne meine Freigabe.", "Die Rechnungen schicke ich selbst.",

		"Ne modifie aucun fichier, ne valide rien.", "N'écris jamais dans la base de production.", "Seulement les tests, rien d'autre.", "Pas de nouvelle dépendance.", "Ne pousse pas avant mon accord.", "Garde la version 3.11.", "Publie 1 et 2 seulement.", "Ignore le style.", "Sans toucher aux tests.", "Commentaires en français, ton neutre.",
		"On ne touche pas au dossier legacy.", "Je ne veux pas de nouvelle bibliothèque.", "Demande-moi avant de supprimer quoi que ce soit.", "Tu peux redémarrer le serveur, mais pas la base.", "Un commit par fichier.", "Au plus 5 essais.", "Merci de ne pas modifier les tests.", "Je m'occupe de la fusion moi-même.",

		"No toques la carpeta legacy.", "Solo incidencias del equipo Plataforma.", "Nunca hagas push a main.", "Sin dependencias nuevas.", "No publiques nada hasta que yo lo apruebe.", "Máximo 5 reintentos.", "Deja la configuración como está.", "Pregúntame antes de borrar algo.", "Todo en inglés.", "Un commit por archivo.",
		"Puedes reiniciar el servidor, pero no la base.", "Mantén la API pública.", "Nada de mocks.", "No quiero bibliotecas nuevas.", "Usa solo la biblioteca estándar.", "Nadie toca el archivo de la empresa.", "El merge lo hago yo.",
	} {
		if Binds(s) == 0 {
			t.Errorf("%q is not a rule", s)
		}
	}
	for _, s := range []string{
		"Nobody knows why the job stops.", "Nothing works since the update.", "nothing goes wrong when i run it", "It seems not to be used anywhere.", "Is the folder off limits?", "Hands up, that was me.", "Leave a comment on the issue.", "It fails on Windows only.", "This affects the list only.", "One test per file fails.",
		"Without the cache it is slow.", "I did it myself.", "Okay, I'll do that.", "Everything in the folder is old.", "Everything is fine.", "Every request takes 3 seconds.", "All tests need a database to run.", "Stop the container.", "Use the second one.", "Use option 2.", "use git log to find it", "Let me see.",
		"Until yesterday there was no error.", "You may notice a warning.", "You may want to look at the log.", "that one stays red", "Show the list.", "What is not to be changed?", "I think nobody touches this file.", "Maybe leave the file alone.", "No allergies that I know of.", "The docs are in English.", "He answered in German.",
		"Path is for storage isolation and manual browsing only.", "ignore last message.", "Compare the two versions.", "Lint: the run has no new issues", "nothing else to report, it works", "Only two of them failed.",

		"Under 400 users are affected by this.", "Nothing goes through the proxy at the moment.", "All emails went to Petra yesterday.", "If the disk is above 90 %, we see errors.", "No changes since yesterday.", "No emails arrived since Monday.", "Every deletion fails with a 500.", "Rollback failed twice.", "Not more than two users complained.", "At no point did it work.",
		"Use the second one for testing.", "Leave a note for Ines.", "If it fails, tell me why.", "When I run it, stop appears in the log.", "Anything that needs a fix is in the list.", "Everything that I tried needs an hour.", "All requests go through nginx, it seems.", "Within two hours it crashed.", "Note: the parser leaves the text as it is.", "Pause the job.",
		"Não funciona no Firefox.", "Não sei por quê.", "Sem problema.", "Só uma pergunta.", "Sempre falha no CI.", "Não existe essa tabela.", "Sem o cache fica lento.", "Pode rodar os testes?",

		"Das geht nicht.", "Geht das nicht schneller?", "Macht nichts.", "Warum lässt sich das nicht löschen", "Wir können das nicht ändern.", "Ich habe nichts gelöscht.", "Der Server startet nicht.", "Ohne Cache ist es langsam.", "Keine Ahnung warum.", "Mach die Tests grün.", "Lass uns anfangen.", "Das habe ich selbst geschrieben.", "Das Skript löscht keine Zeilen.",
		"Ça ne marche pas.", "Ne marche pas chez moi.", "On ne sait pas pourquoi.", "Pas de problème.", "N'hésite pas à demander.", "Pourquoi tu ne testes pas", "Je ne comprends pas.", "Laisse tomber.", "Sans doute une erreur.", "Toujours pas de résultat.", "Regarde le fichier de configuration.", "Ajoute un test.", "Sans le correctif, ça plante.",
		"No funciona.", "No sé por qué.", "No puedes verlo desde aquí.", "No te preocupes por eso.", "Solo una pregunta.", "Sin problema.", "No hay problema.", "Nunca he visto ese error.", "Mira el archivo de configuración.", "Siempre falla en CI.", "¿No tocas la carpeta?", "Borra el archivo temporal.", "No encontré nada en el registro.", "No cambió nada.", "No se ve la página.", "Sin el parche se cae.",
	} {
		if v := Binds(s); v != 0 {
			t.Errorf("%q is a rule with the value %v, want 0", s, v)
		}
	}
}
