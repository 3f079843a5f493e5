//! Starts the process that loads the library, with an end to waiting: a broken driver may hang, or crash its program.

use std::io::{self, BufRead as _, BufReader, Read};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::probe::MARK;
use crate::report::{Device, Feature, Library, Message, Runtime};

/// A message is shorter; what else a line holds is the library's own output.
const MOST_LINE_BYTES: u64 = 4 << 20;
/// The rest of the library's output is thrown away.
const MOST_OUTPUT_BYTES: usize = 64 << 10;
/// How long a process that was killed, or has said all, may take to go.
const PARTING: Duration = Duration::from_secs(5);

/// All that was told, by one process or several.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) library: Option<Library>,
    pub(crate) features: Vec<Feature>,
    pub(crate) runtime: Option<Runtime>,
    pub(crate) devices: Vec<Device>,
    /// Why something came to an early end, as ids of problems and texts.
    pub(crate) stops: Vec<(String, String)>,
    pub(crate) output: String,
    /// What the process knew of itself at its end.
    pub(crate) process: Option<String>,
}

enum Event {
    Message(Box<Message>),
    Output(Vec<u8>),
    /// Standard output is closed.
    Closed,
}

/// So many devices may hang or crash before the others are left alone.
const MOST_LOST: usize = 4;

/// Looks at the library, each step at most for `limit`. Another process leaves out a device that hangs or crashes.
pub(crate) fn look(mock: bool, limit: Duration) -> Findings {
    let mut findings = Findings::default();
    let (mut first, mut lost) = (0, 0);
    while let Some(next) = one(mock, limit, first, &mut findings) {
        lost += 1;
        if lost == MOST_LOST {
            let text = format!("devices from {next} on were not looked at, since {lost} others hung or crashed");
            findings.stops.push(("devices-skipped".to_owned(), text));
            break;
        }
        first = next;
    }
    findings
}

/// One process. Gives the device that another one shall begin with.
fn one(mock: bool, limit: Duration, first: u32, findings: &mut Findings) -> Option<u32> {
    let (mut child, events) = match start(mock, first) {
        Ok(started) => started,
        Err(error) => {
            findings.stops.push(("no-process".to_owned(), format!("starting a process: {error}")));
            return None;
        }
    };
    let mut step = "starting".to_owned();
    let end = listen(&events, limit, &mut step, findings);
    if matches!(end, End::Hung) {
        let _ = child.kill();
    }
    let status = part(&mut child, &events, findings);
    let trouble = match end {
        End::Told => return None,
        End::Hung => ("hung", format!("{step}: no answer in {} s", limit.as_secs())),
        End::Closed => ("crashed", format!("{step}: {}", ending(status))),
    };
    let Some(id) = step.strip_prefix("device ").and_then(|id| id.parse::<u32>().ok()) else {
        // What devices told stays good when only the end of the library fails.
        findings.stops.push((format!("library-{}", trouble.0), trouble.1));
        return None;
    };
    findings.devices.push(Device { id, error: Some(trouble.1), ..Device::default() });
    let count = findings.runtime.as_ref().map_or(0, |runtime| runtime.devices);
    (id + 1 < count).then_some(id + 1)
}

fn start(mock: bool, first: u32) -> io::Result<(Child, Receiver<Event>)> {
    let mut command = Command::new("/proc/self/exe");
    command.arg("--probe-from").arg(first.to_string());
    if mock {
        command.arg("--mock");
    }
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (sender, events) = mpsc::channel();
    if let Some(out) = child.stdout.take() {
        read(out, sender.clone(), true);
    }
    if let Some(errors) = child.stderr.take() {
        read(errors, sender, false);
    }
    Ok((child, events))
}

/// On a thread of its own, which nobody waits for: a grandchild may keep the pipe open for ever.
fn read(pipe: impl Read + Send + 'static, events: Sender<Event>, messages: bool) {
    thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut kept = 0;
        loop {
            let mut line = Vec::new();
            if !matches!(pipe.by_ref().take(MOST_LINE_BYTES).read_until(b'\n', &mut line), Ok(1..)) {
                break;
            }
            let message = line.strip_prefix(MARK.as_bytes()).filter(|_| messages);
            let event = match message.and_then(|text| serde_json::from_slice(text).ok()) {
                Some(message) => Event::Message(Box::new(message)),
                None if kept > MOST_OUTPUT_BYTES || line.trim_ascii().is_empty() => continue,
                None => {
                    line.truncate(MOST_OUTPUT_BYTES);
                    kept += line.len();
                    Event::Output(line)
                }
            };
            if events.send(event).is_err() {
                return;
            }
        }
        if messages {
            let _ = events.send(Event::Closed);
        }
    });
}

enum End {
    Told,
    Hung,
    Closed,
}

fn listen(events: &Receiver<Event>, limit: Duration, step: &mut String, findings: &mut Findings) -> End {
    let mut deadline = Instant::now() + limit;
    loop {
        match events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Err(RecvTimeoutError::Timeout) => return End::Hung,
            Err(RecvTimeoutError::Disconnected) | Ok(Event::Closed) => return End::Closed,
            Ok(Event::Output(line)) => findings.output.push_str(&String::from_utf8_lossy(&line)),
            Ok(Event::Message(message)) => {
                // The library's own output is no progress.
                deadline = Instant::now() + limit;
                match *message {
                    Message::Step(name) => *step = name,
                    Message::Library(library) => findings.library = Some(library),
                    Message::Features(features) => findings.features = features,
                    Message::Runtime(runtime) => findings.runtime = Some(runtime),
                    Message::Device(device) => findings.devices.push(device),
                    Message::Process(text) => findings.process = Some(text),
                    Message::Failed { id, text } => {
                        findings.stops.push((id, text));
                        return End::Told;
                    }
                    Message::End => return End::Told,
                }
            }
        }
    }
}

/// Waits a little for the process to go, and takes what it still wrote. One that the driver holds is left behind.
fn part(child: &mut Child, events: &Receiver<Event>, findings: &mut Findings) -> Option<ExitStatus> {
    const PAUSE: Duration = Duration::from_millis(20);
    let end = Instant::now() + PARTING;
    let mut killed = false;
    loop {
        let status = child.try_wait().ok().flatten();
        let heard = events.recv_timeout(PAUSE);
        if let Ok(Event::Output(line)) = &heard {
            findings.output.push_str(&String::from_utf8_lossy(line));
        }
        match heard {
            Err(_) if status.is_some() => return status,
            Err(RecvTimeoutError::Disconnected) => thread::park_timeout(PAUSE),
            _ => {}
        }
        if Instant::now() > end {
            if status.is_some() || killed {
                return status;
            }
            let _ = child.kill();
            killed = true;
        }
    }
}

fn ending(status: Option<ExitStatus>) -> String {
    match status.map(|status| (status.signal(), status.code())) {
        Some((Some(signal), _)) => format!("the process was ended by signal {signal}"),
        Some((_, Some(code))) => format!("the library ended the process with code {code}"),
        _ => "the process is gone".to_owned(),
    }
}
