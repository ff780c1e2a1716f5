"""What models say before they go on. Many wordings, since none of them may matter."""

PARAGRAPHS = """\
Sure! Here is the rest of the text:
Certainly, I'll pick up right where I left off:
Continuing from the cut-off point:
Of course. Continuing exactly where I stopped.
Apologies for the interruption. Here's the remainder:
My previous message was cut short, so let me resume:
Resuming:
Let me finish that for you.
Below is the remaining part:
Got it – no repetition, just the continuation:
Thanks for your patience! The answer goes on like this:
I ran out of space. Continuing now.
Right, back to it:
As requested, the continuation follows:
Here we go again, from the last line:
Understood. I will continue without repeating anything.
Continuation:
**Continued:**
Sorry about that! Let me carry on.
Picking up the thread again:
OK, here's what comes next:
No problem, the output goes on below:
Let me complete the last unfinished line first:
Continuing with the same formatting as before…
Natürlich, hier geht es weiter:
Entschuldigung, ich setze die Antwort fort:
Gerne! Der Rest des Textes lautet:
Ich mache genau an der Stelle weiter, an der ich aufgehört habe.
Fortsetzung:
Bien sûr, voici la suite :
Je reprends là où je me suis arrêté :
Désolé pour la coupure. Je continue.
Voici le reste du fichier :
Claro, aquí está el resto:
Continúo justo donde lo dejé:
Por supuesto. Sigo con la respuesta.
¡Perdón por el corte! Aquí sigue:
Certo, ecco il seguito:
Riprendo da dove ero rimasto:
Claro! Continuando de onde parei:
Natuurlijk, hier is het vervolg:
Självklart, här kommer fortsättningen:
Конечно, вот продолжение:
Продолжаю с того места, где остановился:
Oczywiście, oto dalszy ciąg:
好的，以下是剩余的内容：
抱歉，刚才的回答被截断了。我接着写。
接下来继续：
当然，从中断的地方继续：
続きは以下のとおりです：
申し訳ありません。途中から続けます。
はい、残りの部分です：
물론입니다. 이어서 작성하겠습니다:
네, 끊긴 부분부터 계속합니다.
""".splitlines()
