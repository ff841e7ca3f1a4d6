// Package evalscope reads and writes EvalScope's own files, byte for byte:
// predictions, reviews, reports, task configurations, and where they lie. Those of
// version 1.4.2 are the same bytes, those of 1.14 ([Schema114]) the same values.
// It reads the rows of other programs, too ([Read]), and never touches the network.
//
// What differs from the real tool, on purpose:
//
//   - rows stand in index order; the real order changes from run to run;
//   - message ids are derived from the item, not drawn at random, and the id of
//     the server's reply is null in the newer schema;
//   - tool calls and log probabilities in a reply are written as null;
//   - a failed request has a row with an empty reply and its cause under
//     model_output.error; 1.4.2 has no row and a smaller denominator, which
//     [Failure] serves;
//   - task_config has no paths of the machine: work_dir is ".", dataset_dir is
//     left null, and the six digits of its name come from our own bytes; the
//     newer one's fingerprint is null, and it names no local_path.
package evalscope

// Version is the EvalScope version whose files are written unless another is asked
// for.
const Version = "1.4.2"
