//! Lines in, lines out: read in blocks, worked on by all cores, written in the order read. Memory is bounded by the
//! blocks under way, however long the input is.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::Context;

/// Bytes of a block: a few thousand addresses.
const BLOCK_BYTES: usize = 256 * 1024;

/// Bytes of one line. A longer one is answered as unreadable.
const LINE_BYTES: usize = 64 * 1024;

/// Blocks that each core may be ahead of the writer.
const BLOCKS_PER_CORE: usize = 2;

/// Whole lines of the input.
pub(super) struct LineBlock(Vec<u8>);

impl LineBlock {
    /// The lines without their ends. The error is for one that is too long.
    pub(super) fn lines(&self) -> impl Iterator<Item = Result<&[u8], String>> {
        let whole = self.0.strip_suffix(b"\n").unwrap_or(&self.0);
        whole.split(|byte| *byte == b'\n').map(|line| {
            if line.len() > LINE_BYTES {
                return Err(format!("the line is longer than {LINE_BYTES} bytes"));
            }
            Ok(line)
        })
    }
}

/// A block and where its answer is expected.
type BlockTask = (LineBlock, SyncSender<anyhow::Result<Vec<u8>>>);

/// Copies `input` to `output`, each block changed by `work`, which appends the answer's lines to what it is given.
/// Ends well when nobody reads the output any more.
pub(super) fn transform_blocks(
    input: impl Read + Send,
    mut output: impl Write,
    work: impl Fn(&LineBlock, &mut Vec<u8>) -> anyhow::Result<()> + Sync,
) -> anyhow::Result<()> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let (tasks, queue) = sync_channel::<BlockTask>(cores * BLOCKS_PER_CORE);
    let (expected, answers) = sync_channel(cores * BLOCKS_PER_CORE);
    let queue = Mutex::new(queue);
    thread::scope(|scope| {
        let reader = scope.spawn(move || read_blocks(input, &tasks, &expected));
        for _ in 0..cores {
            scope.spawn(|| process_tasks(&queue, &work));
        }
        let written = write_answers(&answers, &mut output);
        // Without a receiver the reader stops, and with it everybody.
        drop(answers);
        let read = reader
            .join()
            .unwrap_or_else(|_| Err(anyhow::anyhow!("the reader failed")));
        match written {
            Err(error) if is_broken_pipe(&error) => Ok(()),
            Err(error) => Err(error),
            Ok(()) => read,
        }
    })
}

fn read_blocks(
    input: impl Read,
    tasks: &SyncSender<BlockTask>,
    expected: &SyncSender<Receiver<anyhow::Result<Vec<u8>>>>,
) -> anyhow::Result<()> {
    let mut reader = BufReader::with_capacity(BLOCK_BYTES, input);
    loop {
        let mut block = Vec::with_capacity(BLOCK_BYTES + LINE_BYTES);
        while block.len() < BLOCK_BYTES && read_line(&mut reader, &mut block)? {}
        if block.is_empty() {
            return Ok(());
        }
        let (sender, receiver) = sync_channel(1);
        // An error: nobody wants more.
        if expected.send(receiver).is_err() || tasks.send((LineBlock(block), sender)).is_err() {
            return Ok(());
        }
    }
}

/// Appends a line, of a too long one only as much as shows that. False at the end.
fn read_line(reader: &mut impl BufRead, block: &mut Vec<u8>) -> anyhow::Result<bool> {
    const MOST: u64 = LINE_BYTES as u64 + 1;
    let read = reader
        .by_ref()
        .take(MOST)
        .read_until(b'\n', block)
        .context("cannot read the input")?;
    if read as u64 == MOST && !block.ends_with(b"\n") {
        reader.skip_until(b'\n').context("cannot read the input")?;
        block.push(b'\n');
    }
    Ok(read > 0)
}

fn process_tasks(
    queue: &Mutex<Receiver<BlockTask>>,
    work: &impl Fn(&LineBlock, &mut Vec<u8>) -> anyhow::Result<()>,
) {
    loop {
        let task = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((block, answer)) = task else { return };
        let mut out = Vec::with_capacity(block.0.len() * 4);
        let result = work(&block, &mut out).map(|()| out);
        // An error: the writer has stopped.
        let _ = answer.send(result);
    }
}

fn write_answers(
    answers: &Receiver<Receiver<anyhow::Result<Vec<u8>>>>,
    output: &mut impl Write,
) -> anyhow::Result<()> {
    while let Ok(answer) = answers.recv() {
        let out = answer.recv().context("a worker failed")??;
        output.write_all(&out)?;
    }
    output.flush()?;
    Ok(())
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shout_lines(block: &LineBlock, out: &mut Vec<u8>) -> anyhow::Result<()> {
        for line in block.lines() {
            match line {
                Ok(line) => out.extend(line.to_ascii_uppercase()),
                Err(_) => out.extend(b"long"),
            }
            out.push(b'\n');
        }
        Ok(())
    }

    #[test]
    fn lines_come_out_in_the_order_they_went_in() {
        let lines: Vec<String> = (0..200_000)
            .map(|number| format!("line {number}"))
            .collect();
        let mut out = Vec::new();
        transform_blocks(lines.join("\n").as_bytes(), &mut out, shout_lines).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(out.lines().eq(lines.iter().map(|line| line.to_uppercase())));
    }

    #[test]
    fn a_line_that_is_too_long_is_one_answer_and_the_next_line_is_read() {
        let input = format!(
            "{}\n{}\nb",
            "x".repeat(LINE_BYTES + 1),
            "y".repeat(LINE_BYTES)
        );
        let mut out = Vec::new();
        transform_blocks(input.as_bytes(), &mut out, shout_lines).unwrap();
        assert_eq!(
            out,
            format!("long\n{}\nB\n", "Y".repeat(LINE_BYTES)).into_bytes()
        );
        let mut endless = Vec::new();
        transform_blocks(
            std::io::repeat(b'x').take(10 << 20),
            &mut endless,
            shout_lines,
        )
        .unwrap();
        assert_eq!(endless, b"long\n");
    }

    #[test]
    fn empty_lines_count_and_an_empty_input_gives_nothing() {
        for (input, expected) in [("", ""), ("\n", "\n"), ("a\n\nb\n", "A\n\nB\n")] {
            let mut out = Vec::new();
            transform_blocks(input.as_bytes(), &mut out, shout_lines).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn nobody_reading_on_is_a_good_end_and_a_failing_worker_is_none() {
        struct ClosedWriter;
        impl Write for ClosedWriter {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let input = "a\n".repeat(1_000_000);
        transform_blocks(input.as_bytes(), ClosedWriter, shout_lines).unwrap();
        assert!(
            transform_blocks(input.as_bytes(), Vec::new(), |_, _| anyhow::bail!("no")).is_err()
        );
    }
}
