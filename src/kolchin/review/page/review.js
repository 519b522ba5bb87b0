"use strict";
// The server keeps everything; this page holds only where it looks, so that it can be closed.
const find = id => document.getElementById(id);
const NAMES = { pairs: "May be the same", groups: "May be two", audit: "Audit", again: "Asked again" };
const LONGEST_COMPARED = 200;
let state = null, queue = null, question = null, marked = new Set(), history = [], busy = false;

async function call(path, body) {
  const sent = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let reply, data;
  try {
    reply = await fetch("api/" + path, sent || {});
    data = await reply.json();
  } catch {
    throw new Error("The server does not answer. Nothing that was answered is lost; start 'kolchin review' again.");
  }
  if (!reply.ok) throw new Error(data.fault || "That went wrong.");
  if (data.stale) {
    history = [];
    await enter(queue);
    throw new Error("Answers were counted meanwhile, so the questions are others now: this answer was not taken.");
  }
  return data;
}

// One thing at a time: a key that is held down does not answer two questions.
async function doing(work) {
  if (busy) return;
  works(true);
  try {
    await work();
    find("fault").hidden = true;
  } catch (error) {
    find("fault").textContent = error.message;
    find("fault").hidden = false;
  } finally {
    works(false);
  }
}

function works(now) {
  busy = now;
  document.body.setAttribute("aria-busy", now);
}

function element(tag, content, name) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  for (const one of [content].flat()) if (one != null) made.append(one);
  return made;
}

const progressOf = name => state.queues.find(one => one.name === name);
const percent = p => p > 0.999 && p < 1 ? "over 99.9%" : p > 0 && p < 0.001 ? "under 0.1%" : (100 * p).toFixed(1) + "%";
const plain = value => value.trim().toLowerCase();

// Marks the letters of a value that the other one does not have, by their longest common part.
function differing(value, other) {
  const bdi = element("bdi");
  if (value.length > LONGEST_COMPARED || other.length > LONGEST_COMPARED) return element("bdi", element("mark", value));
  const a = [...value], b = [...other];
  const best = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      best[i][j] = a[i].toLowerCase() === b[j].toLowerCase() ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
  if (best[0][0] < 0.5 * Math.max(a.length, b.length)) return element("bdi", element("mark", value));
  for (let i = 0, j = 0; i < a.length; i++) {
    while (j < b.length && best[i][j + 1] === best[i][j] && best[i + 1][j] < best[i][j]) j++;
    const shared = j < b.length && a[i].toLowerCase() === b[j].toLowerCase() && best[i][j] === best[i + 1][j + 1] + 1;
    if (shared) { bdi.append(a[i]); j++; }
    else if (bdi.lastChild?.nodeName === "MARK") bdi.lastChild.append(a[i]);
    else bdi.append(element("mark", a[i]));
  }
  bdi.normalize();
  return bdi;
}

function cell(value, other) {
  if (value == null) return element("td", "missing", "gap");
  if (other == null || plain(value) === plain(other)) return element("td", element("bdi", value));
  return element("td", differing(value, other));
}

function pairTable([one, two]) {
  const head = element("tr", [element("th", ""), element("th", element("bdi", one.name)), element("th", element("bdi", two.name))]);
  const rows = [];
  for (const kind of ["used", "unused"]) for (const name of state.columns[kind]) {
    const a = one.values[name], b = two.values[name];
    if (a == null && b == null) continue;
    const equal = a != null && b != null && plain(a) === plain(b);
    const row = element("tr", [element("th", element("bdi", name)), cell(a, b), cell(b, a)], equal ? "equal" : "");
    if (kind === "unused") row.classList.add("unused");
    rows.push(row);
  }
  return element("table", [element("thead", head), element("tbody", rows)], "pair");
}

function usual(records, name) {
  const counts = new Map();
  for (const { values } of records) if (values[name] != null) counts.set(plain(values[name]), (counts.get(plain(values[name])) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
}

function groupTable(records, choose) {
  const names = [...state.columns.used, ...state.columns.unused].filter(name => records.some(one => one.values[name] != null));
  const common = new Map(names.map(name => [name, usual(records, name)]));
  const head = element("tr", [choose && element("th", ""), element("th", "record"), ...names.map(name => element("th", element("bdi", name)))]);
  const rows = records.map((one, k) => {
    const cells = names.map(name => {
      const value = one.values[name];
      if (value == null) return element("td", "missing", "gap");
      const bdi = element("bdi", value);
      return element("td", plain(value) === common.get(name) ? bdi : element("mark", bdi));
    });
    const row = element("tr", [element("th", element("bdi", one.name)), ...cells], marked.has(one.row) && choose ? "out" : "");
    if (choose) {
      const button = element("button", marked.has(one.row) ? "belongs after all" : "does not belong", "small");
      button.dataset.mark = k + 1;
      button.addEventListener("click", () => mark(k));
      row.prepend(element("td", [k < 9 ? element("kbd", String(k + 1)) : null, " ", button]));
    }
    return row;
  });
  return element("div", element("table", [element("thead", head), element("tbody", rows)], "group"), "wide");
}

function mark(place) {
  const row = question.records[place]?.row;
  if (row === undefined || question.records.length < 3) return;
  marked.has(row) ? marked.delete(row) : marked.add(row);
  showQuestion();
}

function showTabs() {
  find("title").textContent = state.title;
  document.title = "Review: " + state.title;
  find("who").textContent = "by " + state.reviewer;
  find("tabs").replaceChildren(...state.queues.map(one => {
    const tab = element("button", `${NAMES[one.name]} ${one.answered.toLocaleString("en")} / ${one.total.toLocaleString("en")}`);
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-selected", one.name === queue);
    tab.dataset.queue = one.name;
    tab.addEventListener("click", () => doing(() => enter(one.name)));
    return tab;
  }));
  const own = progressOf(queue);
  find("bar").style.width = (own.total ? 100 * own.answered / own.total : 100) + "%";
  find("progress").textContent = `${own.answered.toLocaleString("en")} of ${own.total.toLocaleString("en")} answered. ${own.words}`;
}

function showWaiting() {
  const own = state.counting, box = find("waiting");
  box.hidden = !own || !(own.waiting || own.works);
  if (box.hidden) return;
  const many = own.waiting === 1 ? "1 answer does" : `${own.waiting.toLocaleString("en")} answers do`;
  box.firstElementChild.textContent = own.works ? "The answers are being counted; you can go on." : `${many} not count yet.`;
  find("count").hidden = own.works;
}

async function refreshWaiting() {
  const before = state.round;
  const now = await call("state");
  state.counting = now.counting;
  if (now.round !== before) {
    history = [];
    await enter(queue);
    find("last").textContent = "The answers count now: what is left is asked anew.";
  } else showWaiting();
  if (state.counting?.fault) throw new Error(state.counting.fault);
}

function follow() {
  if (!state.counting?.works) return;
  setTimeout(() => (busy ? follow() : doing(refreshWaiting).then(follow)), 700);
}

const count = () => doing(async () => {
  state.counting = (await call("count", {})).counting;
  showWaiting();
  follow();
});

function showQuestion() {
  find("card").hidden = !question;
  find("done").hidden = Boolean(question);
  for (const id of ["same", "different", "unsure"]) {
    find(id).disabled = !question;
    find(id).classList.toggle("chosen", question?.answer === id);
  }
  if (!question) {
    find("doneWords").textContent = `Close this page whenever you like: every answer is in answers.csv. ${state.counting ? "The button above" : `'kolchin resume ${state.directory}'`} makes them count.`;
    return;
  }
  const isGroup = question.queue === "groups" && question.records.length > 2;
  const total = progressOf(question.queue).total.toLocaleString("en");
  find("why").hidden = !question.why;
  find("why").textContent = question.why;
  find("ask").textContent = (isGroup ? `Are these ${question.records.length + question.more} records one and the same?` : "Are these two the same?") + ` (${(question.number + 1).toLocaleString("en")} of ${total})`;
  find("different").disabled = isGroup && !(marked.size && marked.size < question.records.length);
  find("different").firstElementChild.textContent = isGroup ? "Marked do not belong" : "Different";
  find("records").replaceChildren(isGroup ? groupTable(question.records, true) : pairTable(question.records));
  if (question.more) find("records").append(element("p", `${question.more} more records are not shown.`, "small"));
  const told = [];
  if (question.answer) told.push(`You said ${question.answer}; the model believes that they are the same with ${percent(question.probability)}.`);
  if (question.reviewers.length) told.push(`Also answered by ${question.reviewers.join(", ")}.`);
  find("belief").hidden = !told.length;
  find("belief").textContent = told.join(" ");
  const around = find("around");
  around.hidden = !question.others.length;
  around.querySelector("summary").textContent = `The whole groups: ${question.others.length} more records that the list has with these`;
  around.querySelector("div").replaceChildren(...(question.others.length ? [groupTable([...question.records, ...question.others], false)] : []));
}

async function show(number) {
  const total = progressOf(queue).total;
  if (number == null || !total) question = null;
  else {
    const reply = await call(`questions?queue=${queue}&start=${Math.max(0, Math.min(number, total - 1))}&count=1`);
    question = reply.questions[0];
    marked = new Set(question.marked);
  }
  showTabs();
  showWaiting();
  showQuestion();
}

async function enter(name) {
  state = await call("state");
  queue = name;
  await show(progressOf(name).next);
}

function replaced(progress) {
  state.queues = state.queues.map(one => one.name === progress.name ? progress : one);
}

const names = one => one.records.length === 2 ? `${one.records[0].name} and ${one.records[1].name}` : `${one.records.length + one.more} records`;

const say = answer => doing(async () => {
  if (!question || find(answer).disabled) return;
  const reply = await call("answer", { queue, number: question.number, answer, marked: [...marked], round: state.round });
  history.push([queue, question.number]);
  replaced(reply.progress);
  state.counting = reply.counting;
  find("last").textContent = `${names(reply.question)}: you said ${answer}; the model believes in the same with ${percent(reply.question.probability)}. z takes it back.`;
  await show(reply.next);
  scrollTo(0, 0);
});

const undo = () => doing(async () => {
  const last = history.pop();
  const reply = await call("undo", { ...(last ? { queue: last[0], number: last[1] } : {}), round: state.round });
  if (!reply.question) {
    find("last").textContent = "There is nothing to take back.";
    return;
  }
  queue = reply.queue;
  replaced(reply.progress);
  state.counting = reply.counting;
  find("last").textContent = `${names(reply.question)}: taken back.`;
  await show(reply.question.number);
});

const move = step => doing(async () => {
  const total = progressOf(queue).total;
  await show(question ? Math.max(0, Math.min(total - 1, question.number + step)) : total - 1);
});

const KEYS = {
  s: () => say("same"), d: () => say("different"), u: () => say("unsure"), z: undo,
  ArrowLeft: () => move(-1), ArrowRight: () => move(1),
};

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !state) return;
  if (/^[1-9]$/.test(event.key) && question?.queue === "groups") return mark(Number(event.key) - 1);
  const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
for (const answer of ["same", "different", "unsure"]) find(answer).addEventListener("click", () => say(answer));
find("undo").addEventListener("click", undo);
find("count").addEventListener("click", count);
find("back").addEventListener("click", () => move(-1));
find("on").addEventListener("click", () => move(1));

doing(async () => {
  state = await call("state");
  await enter((state.queues.find(one => one.next != null) || state.queues[0]).name);
  follow();
});
