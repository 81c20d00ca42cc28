//! The same rules over a folder and over a bucket.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bucket;

use tempfile::TempDir;

use super::*;
use bucket::FakeBucket;

const LARGE: usize = 20 * 1024 * 1024;

fn build_settings(kind: StorageKind, folder: &std::path::Path, endpoint: &str) -> StorageSettings {
    let s3 = BucketSettings {
        endpoint: endpoint.to_owned(),
        region: "us-east-1".to_owned(),
        bucket: "cards".to_owned(),
        access_key_id: "id".to_owned(),
        secret_access_key: "secret".to_owned(),
    };
    StorageSettings {
        kind,
        folder: folder.to_owned(),
        s3,
    }
}

fn in_folder() -> (Storage, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    // A folder that is not there is made.
    let storage = Storage::new(&build_settings(
        StorageKind::Folder,
        &folder.path().join("files"),
        "",
    ))
    .unwrap();
    (storage, folder)
}

async fn in_bucket() -> (Storage, FakeBucket) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let bucket = FakeBucket::start().await;
    let storage = Storage::new(&build_settings(
        StorageKind::S3,
        std::path::Path::new("."),
        &bucket.url(),
    ))
    .unwrap();
    (storage, bucket)
}

fn parse_name(text: &str) -> FileName {
    text.parse().unwrap()
}

async fn check_files(storage: &Storage) {
    let picture = parse_name("pictures/ab/cdef.png");
    assert!(!storage.has(&picture).await.unwrap());
    assert!(matches!(
        storage.get(&picture, 10).await,
        Err(StorageError::NotFound(_))
    ));
    storage
        .put(&picture, Bytes::from_static(b"first"))
        .await
        .unwrap();
    storage
        .put(&picture, Bytes::from_static(b"second"))
        .await
        .unwrap();
    assert!(storage.has(&picture).await.unwrap());
    assert_eq!(storage.get(&picture, 6).await.unwrap(), "second");
    assert!(matches!(
        storage.get(&picture, 5).await,
        Err(StorageError::TooLarge { most_bytes: 5, .. })
    ));
    storage.delete(&picture).await.unwrap();
    storage.delete(&picture).await.unwrap();
    assert!(!storage.has(&picture).await.unwrap());
    for file in ["old/a/1.png", "old/b/2.png", "old/b/3.png", "older/4.png"] {
        storage
            .put(&parse_name(file), Bytes::from_static(b"x"))
            .await
            .unwrap();
    }
    assert_eq!(
        storage.delete_under(&parse_name("old"), 2).await.unwrap(),
        2
    );
    assert_eq!(
        storage.delete_under(&parse_name("old"), 2).await.unwrap(),
        1
    );
    assert_eq!(
        storage.delete_under(&parse_name("old"), 2).await.unwrap(),
        0
    );
    assert!(storage.has(&parse_name("older/4.png")).await.unwrap());
}

async fn check_writer(storage: &Storage) {
    let large = parse_name("print/run.pdf");
    let mut writer = storage.start_write(&large).await.unwrap();
    // Pieces smaller and larger than what goes to the store together.
    let content: Vec<u8> = (0..LARGE).map(|at| (at / 1000) as u8).collect();
    writer
        .write(Bytes::copy_from_slice(&content[..1000]))
        .await
        .unwrap();
    writer
        .write(Bytes::copy_from_slice(&content[1000..LARGE - 1]))
        .await
        .unwrap();
    assert!(
        !storage.has(&large).await.unwrap(),
        "nothing shows before the end"
    );
    writer
        .write(Bytes::copy_from_slice(&content[LARGE - 1..]))
        .await
        .unwrap();
    writer.finish().await.unwrap();
    assert!(storage.get(&large, LARGE).await.unwrap() == content);
    let mut writer = storage
        .start_write(&parse_name("print/other.pdf"))
        .await
        .unwrap();
    writer.write(Bytes::from_static(b"x")).await.unwrap();
    writer.abandon().await.unwrap();
    assert!(!storage.has(&parse_name("print/other.pdf")).await.unwrap());
}

#[tokio::test]
async fn a_folder_keeps_files_whole_or_not_at_all() {
    let (storage, _folder) = in_folder();
    check_files(&storage).await;
    check_writer(&storage).await;
}

#[tokio::test]
async fn a_bucket_keeps_files_whole_or_not_at_all() {
    let (storage, _bucket) = in_bucket().await;
    check_files(&storage).await;
    check_writer(&storage).await;
}

#[tokio::test]
async fn a_writer_that_is_dropped_leaves_nothing_in_a_folder() {
    let (storage, folder) = in_folder();
    let mut writer = storage.start_write(&parse_name("run.pdf")).await.unwrap();
    writer.write(Bytes::from(vec![0; LARGE])).await.unwrap();
    drop(writer);
    // Writes that were under way end before the next one of this runtime's blocking threads is asked for.
    storage
        .put(&parse_name("after"), Bytes::new())
        .await
        .unwrap();
    assert!(!storage.has(&parse_name("run.pdf")).await.unwrap());
    let shown = std::fs::read_dir(folder.path().join("files")).unwrap();
    let shown = shown.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(shown.filter(|file| !file.contains('#')).eq(["after"]));
}

#[tokio::test]
async fn a_refusing_bucket_is_named_with_its_reason() {
    let (storage, bucket) = in_bucket().await;
    bucket.refuse_requests();
    let error = storage
        .put(&parse_name("a"), Bytes::from_static(b"x"))
        .await
        .unwrap_err();
    assert!(matches!(error, StorageError::Unavailable { .. }));
    let text = error.to_string();
    assert!(
        text.contains("the file a ") && text.contains("AccessDenied"),
        "{text}"
    );
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = Storage::new(&build_settings(
        StorageKind::Folder,
        &file.path().join("x"),
        "",
    ))
    .unwrap_err();
    assert!(
        error
            .to_string()
            .contains(&file.path().display().to_string())
    );
}

#[test]
fn a_buckets_key_does_not_show() {
    let shown = format!(
        "{:?}",
        build_settings(
            StorageKind::S3,
            std::path::Path::new("."),
            "http://127.0.0.1:1"
        )
    );
    assert!(!shown.contains("secret"), "{shown}");
}

#[tokio::test]
async fn what_a_killed_writer_left_goes_and_nothing_else_does() {
    let (storage, folder) = in_folder();
    let file = parse_name("print/card.pdf");
    storage.delete_unfinished(&file).await.unwrap();
    storage
        .put(
            &parse_name("print/card.pdf2"),
            Bytes::from_static(b"another"),
        )
        .await
        .unwrap();
    let mut killed = storage.start_write(&file).await.unwrap();
    killed.write(Bytes::from(vec![1; LARGE])).await.unwrap();
    // Its process has gone: nothing that it would have done at its end happens.
    std::mem::forget(killed);
    let there = || {
        std::fs::read_dir(folder.path().join("files/print"))
            .unwrap()
            .count()
    };
    assert_eq!(there(), 2);
    storage.delete_unfinished(&file).await.unwrap();
    assert_eq!(there(), 1);
    let mut next = storage.start_write(&file).await.unwrap();
    next.write(Bytes::from_static(b"whole")).await.unwrap();
    next.finish().await.unwrap();
    assert_eq!(storage.get(&file, 10).await.unwrap(), "whole");
}

#[tokio::test]
async fn files_of_others_are_listed_and_copied() {
    let (storage, folder) = in_folder();
    let files = folder.path().join("files");
    std::fs::create_dir_all(files.join("inbox/day")).unwrap();
    for name in [
        "inbox/a.csv",
        "inbox/day/b.csv",
        "inbox/not a name",
        "inbox/c.csv#1",
        "d.csv",
    ] {
        std::fs::write(files.join(name), "12345").unwrap();
    }
    let inbox = parse_name("inbox");
    let listed: Vec<StoredFile> = storage.list_under(&inbox).try_collect().await.unwrap();
    let mut names: Vec<&str> = listed.iter().map(|file| file.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["inbox/a.csv", "inbox/day/b.csv"]);
    assert!(listed.iter().all(|file| file.bytes == 5));
    let copy = folder.path().join("copy");
    let mut target = tokio::fs::File::create(&copy).await.unwrap();
    let name = &listed[0].name;
    assert_eq!(storage.copy_file(name, &mut target, 5).await.unwrap(), 5);
    assert_eq!(std::fs::read(&copy).unwrap(), b"12345");
    let error = storage.copy_file(name, &mut target, 4).await.unwrap_err();
    assert!(matches!(error, StorageError::TooLarge { .. }), "{error}");
}
